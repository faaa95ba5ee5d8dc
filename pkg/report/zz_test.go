package report
import ("testing";"os";"math";"math/rand")
func TestZZ(t *testing.T){
 var a,b,x []float64
 for i:=0;i<200;i++{x=append(x,float64(i+1)); a=append(a,0.5+0.2*(1-math.Exp(-float64(i)/30))+0.01*rand.Float64()); b=append(b,0.5+0.4*(1-math.Exp(-float64(i)/40))+0.01*rand.Float64())}
 figs:=[]*Figure{Curves("c1","Validation score while training, with and without reverse layers","epoch","ROC-AUC on validation nodes",[]Series{{"GCN",x,a},{"GCN+ReP",x,b}}),
 Curves("c2","Residual","iteration","residual [1]",[]Series{{"solve",x,b}},Axes{LogX:true,LogY:true})}
 for _,n:=range []int{8,25,100}{
  var ps []Panel
  for _,nm:=range []string{"Truth: mines","GCN: ROC-AUC 0.712","GCN+ReP: ROC-AUC 0.913"}{
   v:=make([]float64,n*n); for i:=range v{v[i]=rand.Float64(); if nm=="Truth: mines"{v[i]=math.Floor(v[i]*1.25)}}
   ps=append(ps,Panel{nm,v})}
  figs=append(figs,Board("b"+string(rune('a'+n%26)),"Where the mines are, and where each model sees them","probability of a mine",n,n,ps))
 }
 page:="<html><body>"
 for i,f:=range figs{ s,err:=f.SVG(); if err!=nil{t.Fatal(err)}; os.WriteFile("/tmp/kw/try/"+string(rune('0'+i))+".svg",[]byte(s),0o644); h,err:=f.HTML(); if err!=nil{t.Fatal(err)}; t.Log(f.ID,f.Width,f.Height,len(s),len(h)); page+=h}
 os.WriteFile("/tmp/kw/try/page.html",[]byte(page),0o644)
 src,_:=os.ReadFile("/tmp/kw/echarts.min.js")
 os.WriteFile("/tmp/kw/try/pagejs.html",[]byte("<html><body><script>"+string(src)+"</script>"+page),0o644)
}
